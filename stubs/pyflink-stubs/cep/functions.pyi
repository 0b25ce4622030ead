from scurry.cep.functions import *
